const data = JSON.parse(document.getElementById("data").textContent);
const notRun = ["skip", "unsupported"];
const state = { target: "", axis: 0, unclean: false, test: "", axisName: "", value: "", status: "", defect: "", words: "" };
// What of the state stands in the address, so that a view can be sent: #q=words&status=fail&test=…
const inAddress = { q: "words", target: "target", status: "status", test: "test", axis: "axisName", value: "value", defect: "defect" };

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// A cell of data.cells as {status: cases}; null when nothing was tested. All targets are summed up.
function cell(axis, test, value) {
  const sum = {};
  data.targets.forEach((target, index) => {
    if (state.target && state.target !== target) return;
    const found = data.cells[index][axis][test][value];
    const counts = typeof found === "number" ? (found ? { pass: found } : {}) : found;
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] || 0) + count;
  });
  return Object.keys(sum).length ? sum : null;
}

const worst = (counts) => data.statuses.findIndex((status) => counts[status]);
const ran = (counts) => Object.entries(counts).reduce((sum, [status, n]) => sum + (notRun.includes(status) ? 0 : n), 0);
const clean = (counts) => !counts || data.statuses[worst(counts)] === "pass" || !ran(counts);

// The common axes and those with failures have a tab each; the others, which may be a hundred, are in a list.
function drawTabs() {
  const held = document.activeElement && document.activeElement.getAttribute("role") === "tab";
  const shown = data.axes.map((_, index) => index).filter((index) => index < data.tabs || index === state.axis);
  one("axes").replaceChildren(...shown.map((index) => {
    const tab = element("button", { type: "button", textContent: data.axes[index][0], onclick: () => { state.axis = index; drawMatrix(); } });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "matrix");
    tab.setAttribute("aria-selected", index === state.axis);
    tab.tabIndex = index === state.axis ? 0 : -1;
    if (held && index === state.axis) setTimeout(() => tab.focus());
    return tab;
  }));
  const list = one("more-axes").querySelector("select");
  const others = data.axes.map(([name], index) => [name, index]).slice(data.tabs);
  one("more-axes").hidden = !others.length;
  list.replaceChildren(element("option", { value: "", textContent: `${others.length} more` }),
    ...others.map(([name, index]) => element("option", { value: index, textContent: name, selected: index === state.axis })));
}

one("more-axes").querySelector("select").onchange = (event) => {
  if (event.target.value) { state.axis = Number(event.target.value); drawMatrix(); }
};

one("axes").onkeydown = (event) => {
  const tabs = [...one("axes").children];
  const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  tabs[(to + tabs.length) % tabs.length].focus();
  document.activeElement.click();
};

function drawMatrix() {
  drawTabs();
  if (!data.axes.length) return;
  const [axisName, values] = data.axes[state.axis];
  let rows = data.tests.map((name, test) => ({ name, cells: values.map((_, value) => cell(state.axis, test, value)) }));
  rows = rows.filter((row) => row.cells.some((counts) => counts));
  const badness = (cells) => Math.min(...cells.map((counts) => (clean(counts) ? data.statuses.length : worst(counts))));
  rows.sort((a, b) => badness(a.cells) - badness(b.cells) || (a.name < b.name ? -1 : 1));
  let columns = values.map((_, value) => value).filter((value) => rows.some((row) => row.cells[value]));
  // What did not pass must not hide off the right edge. Numbers stay in their order: it shows from which size on.
  if (!values.every((value) => /^[0-9]+$/.test(value))) {
    const columnBadness = new Map(columns.map((value) => [value, badness(rows.map((row) => row.cells[value]))]));
    columns.sort((a, b) => columnBadness.get(a) - columnBadness.get(b) || a - b);
  }
  if (state.unclean) {
    rows = rows.filter((row) => !row.cells.every(clean));
    columns = columns.filter((value) => !rows.every((row) => clean(row.cells[value])));
  }
  if (!rows.length) {
    one("matrix").replaceChildren(element("p", { className: "note", textContent: state.unclean ? "Everything that ran passed." : "No test has this axis here." }));
    return;
  }
  const head = element("tr", {}, element("th"), ...columns.map((value) => element("th", { scope: "col" }, element("span", { textContent: values[value] }))));
  const body = rows.map((row) => element("tr", {}, element("th", { scope: "row", textContent: row.name, title: row.name }),
    ...columns.map((value) => drawCell(row.name, axisName, values[value], row.cells[value]))));
  one("matrix").replaceChildren(element("table", { className: "grid" }, element("thead", {}, head), element("tbody", {}, ...body)));
}

function drawCell(test, axisName, value, counts) {
  if (!counts) return element("td", { className: "none", title: `${test} ${axisName}=${value}: not tested` });
  const total = ran(counts);
  // A flaky case passed in the end; its colour tells it from the others.
  const passed = (counts.pass || 0) + (counts.flaky || 0);
  const told = data.statuses.filter((status) => counts[status]).map((status) => `${counts[status]} ${status}`).join(", ");
  const button = element("button", {
    type: "button", title: `${test} ${axisName}=${value}: ${told}`, textContent: total ? `${passed}/${total}` : "n/a",
    onclick: () => show({ test, axisName, value, status: "", defect: "" }),
  });
  const chosen = state.test === test && state.axisName === axisName && state.value === value;
  return element("td", { className: `s-${data.statuses[worst(counts)]}${chosen ? " on" : ""}` }, button);
}

const cases = every("#cases .case");
const told = every(".case"); // also those that failed as known, and passing ones with advice: the filters act on all
const groups = every(".group").map((node) => [node, [...node.querySelectorAll(".case")]]);
const texts = new Map();
function textOf(node) { // made once, when the first search needs it
  if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
  return texts.get(node);
}

function filterCases() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const node of told) {
    const { target, test, point, defect } = node.dataset;
    const keep = (!state.target || target === state.target) && (!state.test || test === state.test)
      && (!state.axisName || point.includes(`/${state.axisName}=${state.value}/`))
      && (!state.defect || defect === state.defect)
      && (!state.status || node.dataset.state === state.status) && words.every((word) => textOf(node).includes(word));
    node.hidden = !keep;
    shown += keep && node.dataset.state !== "pass";
  }
  groups.forEach(([node, inside]) => { node.hidden = inside.every((one) => one.hidden); });
  const all = told.filter((node) => node.dataset.state !== "pass").length;
  one("shown").textContent = all ? `${shown} of ${all}` : "";
  one("nothing").hidden = shown > 0;
  one("nothing").textContent = one("capped") || state.words ? "No case on this page matches." : "Nothing to show: no such case ran and did not pass.";
  const chip = (text, cleared) => element("button", { type: "button", textContent: `${text} ✕`, title: "remove this filter", onclick: () => show(cleared, false) });
  const chips = [];
  if (state.test) chips.push(chip(state.axisName ? `${state.test} · ${state.axisName}=${state.value}` : state.test, { test: "", axisName: "", value: "" }));
  if (state.defect) chips.push(chip(`defect ${state.defect}`, { defect: "" }));
  if (state.status) chips.push(chip(state.status, { status: "" }));
  one("chips").replaceChildren(...chips);
  every("[data-status]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.status === state.status));
  putInAddress();
}

let reading = false; // the address is what the page follows, not what it writes
function putInAddress() {
  if (reading) return;
  const words = new URLSearchParams();
  for (const [key, name] of Object.entries(inAddress)) if (state[name]) words.set(key, state[name]);
  const wanted = words.toString() && `#${words}`;
  const filtered = /^#[a-z]+=/.test(location.hash);
  if (wanted !== location.hash && (wanted || filtered)) history.replaceState(null, "", wanted || location.pathname + location.search);
}

// Follow the address: a filter, or a case, which is opened.
function arrive() {
  const words = new URLSearchParams(location.hash.slice(1));
  reading = true;
  if (/^#[a-z]+=/.test(location.hash)) {
    const change = {};
    for (const [key, name] of Object.entries(inAddress)) change[name] = words.get(key) || "";
    Object.assign(state, change);
    if (!data.targets.includes(state.target)) state.target = "";
    one("search").value = state.words;
    switchTarget(state.target);
    one("cases-section").scrollIntoView({ block: "start" });
  } else if (location.hash.startsWith("#case-")) {
    const node = one(location.hash.slice(1));
    if (node) {
      if (node.hidden) { clearFilters(); switchTarget(""); }
      node.open = true;
      node.scrollIntoView({ block: "center" });
      node.querySelector("summary").focus({ preventScroll: true });
    }
  }
  reading = false;
}

function clearFilters() {
  for (const name of Object.values(inAddress)) state[name] = "";
  one("search").value = "";
}

function show(change, scroll = true) {
  Object.assign(state, change);
  filterCases();
  drawMatrix();
  if (scroll) one("cases-section").scrollIntoView({ block: "start" });
}

function switchTarget(target) {
  state.target = target;
  every("[data-switch]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.switch === target));
  every("[data-view]").forEach((view) => { view.hidden = view.dataset.view !== target; });
  every("tr[data-target], .about").forEach((row) => { row.hidden = Boolean(target) && row.dataset.target !== target; });
  every("tr[data-targets]").forEach((row) => { row.hidden = Boolean(target) && !JSON.parse(row.dataset.targets).includes(target); });
  show({}, false);
}

every("[data-switch]").forEach((button) => { button.onclick = () => switchTarget(button.dataset.switch); });
every("[data-status]").forEach((button) => {
  button.onclick = () => show({ status: state.status === button.dataset.status ? "" : button.dataset.status, test: "", axisName: "", value: "", defect: "" });
});
every("[data-show-defect]").forEach((button) => {
  button.onclick = () => show({ defect: button.dataset.showDefect, test: "", axisName: "", value: "", status: "" });
});
one("unclean").onchange = (event) => { state.unclean = event.target.checked; drawMatrix(); };
one("search").oninput = (event) => { state.words = event.target.value; filterCases(); };

let opened = [];
addEventListener("beforeprint", () => {
  opened = cases.filter((node) => !node.open && !node.hidden).slice(0, 100);
  opened.forEach((node) => { node.open = true; });
});
addEventListener("afterprint", () => opened.forEach((node) => { node.open = false; }));

if (cases.length) cases[0].open = true; // the worst one
filterCases();
drawMatrix();
addEventListener("hashchange", arrive);
arrive();
