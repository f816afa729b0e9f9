// The JSON of queue messages. SQS refuses some characters, and the queue of `npm start` all above
// U+FFFF. Escapes keep the JSON equal: every reader parses the same value.

/** Half a surrogate pair, and the two characters that SQS refuses and JSON does not escape. */
const refusedCharacters = /[\ud800-\udfff\ufffe\uffff]/g;

/** JSON with the characters only that every queue accepts. */
export const toMessageJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    refusedCharacters,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
