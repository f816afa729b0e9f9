// Copies the body of a sending config to the clipboard.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copies]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
  document.getElementById("news").textContent = "Copied";
  button.classList.add("good");
});
