// Choices of the reader that this browser keeps. Without storage they last until the page is left.
const unstored = new Map<string, string>();

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? unstored.get(key) ?? null;
  } catch {
    return unstored.get(key) ?? null;
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    unstored.set(key, value);
  }
}
