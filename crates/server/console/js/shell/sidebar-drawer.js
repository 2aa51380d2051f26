// On a narrow screen the sidebar is a drawer: a button opens it; Escape, a choice and a press beside it close it.

import { icon } from "../ui/icons.js";

export function drawer() {
  const opener = document.getElementById("open-drawer");
  const side = document.getElementById("sidebar");
  const shade = document.getElementById("shade");
  const rest = document.getElementById("stage");
  opener.append(icon("menu"));

  const set = (open) => {
    document.body.classList.toggle("drawer-open", open);
    opener.setAttribute("aria-expanded", String(open));
    shade.hidden = !open;
    // What is behind the drawer cannot be reached while it is open.
    rest.inert = open;
    if (open) side.querySelector("a, button").focus();
  };
  const shut = () => {
    if (!document.body.classList.contains("drawer-open")) return;
    set(false);
    opener.focus();
  };
  opener.addEventListener("click", () => set(true));
  shade.addEventListener("click", shut);
  side.addEventListener("keydown", (event) => event.key === "Escape" && shut());
  matchMedia("(min-width: 56rem)").addEventListener("change", (wide) => wide.matches && shut());
  return { shut };
}
