// What all pages have: the switch between light and dark, and cells that come late.
(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

  const button = document.getElementById("theme");
  if (button) {
    const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("deem-theme", root.dataset.theme); } catch { /* It holds for this page. */ }
      label();
    });
    system.addEventListener("change", label);
    label();
  }

  // A cell that takes a while is fetched behind the page, two at a time, from top to bottom.
  const late = [...document.querySelectorAll("[data-late]")];
  const next = async () => {
    for (let cell; (cell = late.shift());) {
      try {
        const answer = await fetch(cell.dataset.late);
        if (!answer.ok) throw new Error(answer.status);
        cell.innerHTML = await answer.text(); // Our own server has escaped it.
      } catch {
        cell.textContent = "not to be had";
      }
    }
  };
  next();
  next();

  // What can be done with the ticked runs depends on how many there are.
  const chosen = document.querySelector("form[data-choose]");
  if (chosen) {
    const count = () => {
      const n = chosen.querySelectorAll("input[name=run]:checked").length;
      for (const button of chosen.querySelectorAll("button[data-needs]")) button.disabled = n < Number(button.dataset.needs);
      const go = chosen.querySelector("#compare");
      if (go) go.textContent = n < 2 ? "Compare" : `Compare ${n}`;
    };
    chosen.addEventListener("change", count);
    addEventListener("pageshow", count);
    count();
  }

  // A button that copies a text. Without a script it is not there.
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const from = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(from ? from.textContent : location.href);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
    });
  }
})();
