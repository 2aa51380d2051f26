// The switch between light and dark; the choice is remembered.

import { button, fill } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { announce } from "../ui/live-region.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** What is shown now. */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

export function themeSwitch() {
  const node = button("", { hidden: true, icon: icon("sun") });
  const draw = () => {
    const label = isDark() ? "Switch to light" : "Switch to dark";
    node.setAttribute("aria-label", label);
    node.title = label;
    fill(node, icon(isDark() ? "sun" : "moon"));
  };
  const flip = () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("toolwright.theme", next);
    } catch {
      // It holds until the page is closed.
    }
    draw();
    announce(`${next === "dark" ? "Dark" : "Light"} theme`);
  };
  node.addEventListener("click", flip);
  system.addEventListener("change", draw);
  draw();
  return { node, flip };
}
