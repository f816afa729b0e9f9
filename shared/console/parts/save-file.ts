/** Gives a text to the person as a file. */
export function saveFile(text: string, { name, type }: { name: string; type: string }): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  URL.revokeObjectURL(href);
}
