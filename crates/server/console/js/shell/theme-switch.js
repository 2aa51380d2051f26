// The button that switches between light and dark; the choice is stored.

import { button, setChildren } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { announce } from "../ui/live-region.js";

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

export function themeSwitch() {
  const node = button("", { iconOnly: true, icon: icon("sun") });
  const draw = () => {
    const label = isDark() ? "Switch to light" : "Switch to dark";
    node.setAttribute("aria-label", label);
    node.title = label;
    setChildren(node, icon(isDark() ? "sun" : "moon"));
  };
  const toggle = () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("toolwright.theme", next);
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
    draw();
    announce(`${next === "dark" ? "Dark" : "Light"} theme`);
  };
  node.addEventListener("click", toggle);
  system.addEventListener("change", draw);
  draw();
  return { node, toggle };
}
