// Sets the colour scheme before the first paint. It runs before the app, so the page never flashes.
const storageKey = "mantine-color-scheme-value";

function chosenScheme(): string {
  try {
    return localStorage.getItem(storageKey) ?? "auto";
  } catch {
    return "auto";
  }
}

const scheme = chosenScheme();
const systemScheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.setAttribute(
  "data-mantine-color-scheme",
  scheme === "auto" ? systemScheme : scheme,
);
