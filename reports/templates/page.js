"use strict";
const one = (id) => document.getElementById(id);
const every = (selector) => [...document.querySelectorAll(selector)];
every(".copy").forEach((button) => {
  button.onclick = async () => {
    const command = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(command.textContent);
    } catch { // a page opened from a file may not be allowed to: leave the command selected
      getSelection().selectAllChildren(command);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
});
