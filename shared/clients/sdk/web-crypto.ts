// WebCrypto. Node 18 has it as a module only.

// A name in a variable, so that bundlers for browsers do not look for the module.
const nodeModule = "node:crypto";

export const webCrypto = async (): Promise<typeof globalThis.crypto> =>
  globalThis.crypto ?? (await import(nodeModule)).webcrypto;
