// What the commands know of the terminal, and how they write to it.

export interface Terminal {
  write(text: string): void;
  /** Notes, questions and progress: not part of the output. */
  writeError(text: string): void;
  /** Whether a person reads the output. */
  isInteractive: boolean;
  /** Whether a person reads the notes, so that progress can be drawn. */
  showsProgress: boolean;
  columns: number;
  usesColor: boolean;
}

export const processTerminal = (): Terminal => ({
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  isInteractive: Boolean(process.stdout.isTTY),
  showsProgress: Boolean(process.stderr.isTTY),
  columns: process.stdout.columns || 100,
  usesColor: Boolean(process.stdout.isTTY) && !process.env.NO_COLOR,
});

export const bold = (text: string, { usesColor }: Terminal): string =>
  usesColor ? `\x1b[1m${text}\x1b[22m` : text;
export const dim = (text: string, { usesColor }: Terminal): string =>
  usesColor ? `\x1b[2m${text}\x1b[22m` : text;

/** Text of others, without characters that control the terminal. */
export const printable = (text: string): string =>
  [...text].map((character) => (isControl(character.codePointAt(0)!) ? " " : character)).join("");
const isControl = (code: number): boolean =>
  code < 32 || (code >= 127 && code < 160) || (code >= 0x202a && code <= 0x202e);
