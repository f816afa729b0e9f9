// What each role may do, in words. Not in rights.ts, which every function contains.
import type { RoleName } from "../../rights.ts";

export const roleDescriptions: Record<RoleName, string> = {
  owner: "Everything. An organization always has an owner.",
  admin:
    "Everything except to change the plan, to pay, to set up single sign-on, and to change owners.",
  marketer:
    "Audience with exports, content, campaigns, sequences and statistics. No credentials, no " +
    "single emails and no billing.",
  developer:
    "API keys, webhooks, sending configs, domains, single emails, what is in sent emails, " +
    "contacts and templates. No export of contacts, no campaigns and no billing.",
  viewer: "Reads audience, content, campaigns, sends and statistics. Changes nothing.",
};
