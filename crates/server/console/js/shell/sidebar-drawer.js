// The sidebar as a drawer on narrow screens: a button opens it; Escape, navigation and the backdrop close it.

import { icon } from "../ui/icons.js";

export function sidebarDrawer() {
  const openButton = document.getElementById("open-drawer");
  const sidebar = document.getElementById("sidebar");
  const backdrop = document.getElementById("backdrop");
  const stage = document.getElementById("stage");
  openButton.append(icon("menu"));

  const setOpen = (isOpen) => {
    document.body.classList.toggle("drawer-open", isOpen);
    openButton.setAttribute("aria-expanded", String(isOpen));
    backdrop.hidden = !isOpen;
    // The content behind the open drawer must not be focusable.
    stage.inert = isOpen;
    if (isOpen) sidebar.querySelector("a, button").focus();
  };
  const close = () => {
    if (!document.body.classList.contains("drawer-open")) return;
    setOpen(false);
    openButton.focus();
  };
  openButton.addEventListener("click", () => setOpen(true));
  backdrop.addEventListener("click", close);
  sidebar.addEventListener("keydown", (event) => event.key === "Escape" && close());
  matchMedia("(min-width: 56rem)").addEventListener("change", (query) => query.matches && close());
  return { close };
}
