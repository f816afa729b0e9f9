import { credentialsName } from "./credentials.ts";

/** What n8n shows of both nodes. Paths are relative to the file of the node. */
export const commonDescription = {
  version: 1,
  icon: { light: "file:pennymail.svg", dark: "file:pennymail.dark.svg" },
  credentials: [{ name: credentialsName, required: true }],
};
