// Keys for labelling: the sign on a button presses it, and 1 and 2 are y and n. Where the
// judge has several aspects, a number goes to the next of them, Backspace takes the last
// one back and Enter saves. e goes to the note and Escape leaves it; ? opens the help.
// The buttons are those of a plain form.
(() => {
  "use strict";
  const form = document.getElementById("label");
  const help = document.getElementById("help");
  const note = document.getElementById("note");
  const alias = { 1: "y", 2: "n" };
  const aspects = form ? [...form.querySelectorAll("fieldset.aspect")] : [];

  // A form is sent once, however often a key is pressed.
  let sent = false;
  if (form) {
    form.addEventListener("submit", (e) => {
      if (sent) { e.preventDefault(); return; }
      sent = true;
    });
    addEventListener("pageshow", () => { sent = false; });
  }
  const first = form && form.querySelector("input[type=number]");
  if (first) first.focus();
  const press = (key) => {
    const button = form && form.querySelector(`button[data-key="${key}"]:not([disabled])`);
    if (!button) return false;
    if (!sent) form.requestSubmit(button);
    return true;
  };
  const choose = (key) => {
    const next = aspects.find((a) => a.querySelector("[type=radio]") && !a.querySelector(":checked"));
    const radio = next && next.querySelector(`[type=radio][data-key="${key}"]`);
    if (radio) radio.checked = true;
    return Boolean(radio);
  };
  const takeBack = () => {
    const last = aspects.map((a) => a.querySelector(":checked")).filter(Boolean).pop();
    if (last) last.checked = false;
    return Boolean(last);
  };
  document.addEventListener("keydown", (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey || e.repeat) return;
    if (note && e.target === note) {
      if (e.key === "Escape") note.blur();
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== "radio") return;
    const key = alias[e.key] || e.key.toLowerCase();
    let done = false;
    if (key === "e" && note) {
      note.focus();
      done = true;
    } else if (key === "?" && help) {
      help.open = !help.open;
      if (help.open) help.scrollIntoView({ block: "nearest" });
      done = true;
    } else if (key === "backspace") {
      done = takeBack();
    } else if (key === "enter" && !/^(A|BUTTON|SUMMARY)$/.test(e.target.tagName)) {
      done = press(key);
    } else if (/^[a-z0-9]$/i.test(e.key)) {
      done = choose(e.key) || press(e.key.toLowerCase()) || press(key);
    }
    if (done) e.preventDefault();
  });
})();
