/** The service cannot start: one sentence for whoever started it, who can do something about it. */
export class Trouble extends Error {}
