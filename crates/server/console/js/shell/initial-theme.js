// Light or dark, before anything is drawn: as the system says, unless a person has chosen.
(() => {
  try {
    const chosen = localStorage.getItem("toolwright.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the system's choice holds.
  }
})();
