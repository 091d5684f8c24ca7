// What all pages have: the switch between light and dark.
(() => {
  "use strict";
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  const button = document.getElementById("theme");
  if (button) {
    const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("deem-theme", root.dataset.theme); } catch { /* It holds for this page. */ }
      label();
    });
    label();
  }
})();
