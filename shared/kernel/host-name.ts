// Names of servers that a customer enters. Whether their addresses may be used is checked when the
// service connects.
import { isIP } from "node:net";
import * as z from "zod";

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const isHost = (host: string): boolean =>
  isIP(host) !== 0 || host.split(".").every((part) => label.test(part));

/** A host name or an IP address, in lower case. */
export const HostName = z
  .string()
  .max(253)
  .trim()
  .toLowerCase()
  .refine(isHost, "must be a host name or an IP address");
