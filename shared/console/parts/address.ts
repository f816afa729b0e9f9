/** Whether an address is typed to its end. The index finds whole addresses only. */
export const looksComplete = (address: string): boolean =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(address);
