// SVG icons on a 24 × 24 grid. They are decorative: every use has a text label too.

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  chat: "M4 5h16v11H9l-5 4z",
  tool: "M14.5 6.5a4 4 0 0 0 5 5L11 20a2.1 2.1 0 0 1-3-3zM14.5 6.5 17 4M19.5 11.5 22 9",
  prompt: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  send: "M5 12h13M12 6l6 6-6 6",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6 6 18",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  export: "M12 4v11M8 8l4-4 4 4M5 15v5h14v-5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M19 5l-1.5 1.5M6.5 17.5 5 19",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  keyboard: "M3 7h18v10H3zM7 10.5h.01M11 10.5h.01M15 10.5h.01M8 14h8",
  panel: "M4 5h16v14H4zM14 5v14",
  check: "M5 12.5 10 17 19 7",
  cross: "M7 7l10 10M17 7 7 17",
  hand: "M12 3 22 20H2zM12 10v4M12 17h.01",
  back: "M15 6l-6 6 6 6",
  chevron: "M9 6l6 6-6 6",
  again: "M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM16 16l4 4",
  down: "M12 5v14M6 13l6 6 6-6",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20a7 7 0 0 1 14 0",
  share: "M16 8a3 3 0 1 0-3-3M8 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM16 22a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10.5 10.5l4-3M10.5 13.5l3.5 3",
  people: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 20a6 6 0 0 1 12 0M16 5a3 3 0 0 1 0 6M18 14a6 6 0 0 1 3 6",
};

/**
 * Creates an icon.
 * @param {keyof typeof PATHS} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
