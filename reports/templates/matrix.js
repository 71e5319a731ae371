// One number of ranks, or all: a rule of style hides the columns of the others (their classes are n0, n1, …).
const sheet = document.createElement("style");
const numbers = every("#nps [data-np]").map((button) => button.dataset.np).filter(Boolean);
document.head.append(sheet);
function showNp(chosen) {
  const hidden = numbers.filter((number) => chosen && number !== chosen);
  sheet.textContent = hidden.map((number) => `.n${number} { display: none !important }`).join("\n");
  every("#nps button").forEach((button) => button.setAttribute("aria-pressed", button.dataset.np === chosen));
  every("th.library").forEach((head) => { // a hidden column must not count
    const shown = head.dataset.nps.split(" ").filter((number) => !chosen || number === chosen).length;
    head.hidden = !shown;
    head.colSpan = shown || 1;
  });
}
every("#nps button").forEach((button) => { button.onclick = () => showNp(button.dataset.np); });

function filter() {
  const words = one("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = (name) => words.every((word) => name.includes(word));
  let left = 0;
  every("#grid tbody tr").forEach((row) => {
    row.hidden = !wanted(row.cells[0].textContent) || (one("unclean").checked && !("unclean" in row.dataset))
      || (one("unexpected").checked && !("unexpected" in row.dataset));
    left += !row.hidden;
  });
  every("#details > .test").forEach((node) => { node.hidden = !wanted(node.dataset.test); });
  one("none-left").hidden = left > 0;
}
["unclean", "unexpected", "search"].forEach((id) => { one(id).oninput = filter; });

// A link into closed details opens them; the place gets the focus, so that Tab goes on from there.
function arrive() {
  const place = location.hash.startsWith("#d-") && one(location.hash.slice(1));
  if (!place) return;
  const test = place.closest("details");
  test.hidden = false;
  test.open = true;
  const first = place.querySelector(".example");
  if (first) first.open = true;
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", arrive);
every("#grid a").forEach((link) => { link.addEventListener("click", () => { if (link.hash === location.hash) arrive(); }); });

filter();
arrive();
