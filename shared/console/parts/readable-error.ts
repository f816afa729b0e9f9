/** An error of the console itself whose message says what is wrong, or what to do. */
export class ReadableError extends Error {}
