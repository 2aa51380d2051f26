// Applies the stored theme before the first paint; a classic script, because modules run too late.
(() => {
  try {
    const chosen = localStorage.getItem("toolwright.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage, the system's theme applies.
  }
})();
