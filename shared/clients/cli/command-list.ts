// The commands that are no operations of the API, by name.
import type { Command } from "./command.ts";
import { completion } from "./completion.ts";
import { importFile } from "./import-file.ts";
import { init } from "./init.ts";
import { listen } from "./listen.ts";
import { login, logout } from "./login.ts";
import { mcp } from "./mcp.ts";
import { open } from "./open.ts";
import { tail } from "./tail.ts";
import { verifyAudit } from "./verify-audit.ts";

export const commands: Record<string, Command> = {
  login,
  logout,
  init,
  import: importFile,
  tail,
  listen,
  mcp,
  open,
  "verify-audit": verifyAudit,
  completion,
};
