// Resolves `<api id>.execute-api.localhost` to this machine, because some resolvers do not.
import { createRequire, syncBuiltinESMExports } from "node:module";

type Lookup = (name: string, ...more: unknown[]) => void;
const dns = createRequire(import.meta.url)("node:dns") as { lookup: Lookup };
const lookup = dns.lookup;
dns.lookup = (name, ...more) => lookup(name.endsWith(".localhost") ? "127.0.0.1" : name, ...more);
syncBuiltinESMExports();
