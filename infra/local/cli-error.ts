/** An error that the person at the terminal can fix. The message is one sentence. */
export class CliError extends Error {}
