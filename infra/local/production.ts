// Checks the settings of `npm start`, and those that a service with SANDBOX=off needs to send real
// mail.
import { BlockList, isIP, isIPv4 } from "node:net";
import { isIpRange, isLoopbackIp } from "../../shared/kernel/ip-addresses.ts";
import { readPublicUrl } from "../../shared/kernel/service-address.ts";
import { planKeys } from "../../shared/plans.ts";
import { parseSystemSender, systemSenderRule } from "../../shared/providers/system-sender.ts";
import { CliError } from "./cli-error.ts";

export type ServiceSettings = Record<string, string | undefined>;

/** Settings with a fixed set of values. */
const choices: Record<string, readonly string[]> = {
  SANDBOX: ["on", "shared", "off"],
  ALLOW_LOOPBACK_WEBHOOKS: ["on", "off"],
  SIGNUP: ["open", "first", "off"],
  EMAIL_VERIFICATION: ["on", "off"],
  DEFAULT_PLAN: planKeys,
  LOG_FORMAT: ["json", "text"],
  EVENT_FILES: ["on", "off"],
};

/** Whether mail goes to the sandbox's inbox instead of a provider. */
export const usesSandbox = ({ SANDBOX }: ServiceSettings): boolean => SANDBOX !== "off";

/** Throws CliError for the first invalid setting. */
export function checkSettings(settings: ServiceSettings): void {
  for (const [name, words] of Object.entries(choices)) checkChoice(name, settings[name], words);
  checkPublicUrl(settings);
  checkSmtpNetworks(settings);
  checkSystemSender(settings);
  checkSandboxHost(settings);
}

/** `/_local` shows all mail, and with it the links that reset passwords. */
function checkSandboxHost({ SANDBOX, HOST }: ServiceSettings) {
  if (SANDBOX === "off" || SANDBOX === "shared" || !HOST) return;
  if (HOST === "localhost" || isLoopbackIp(HOST)) return;
  throw new CliError(
    `With HOST=${HOST}, everyone on that network could read the inbox of the sandbox, and reset ` +
      "passwords with its links. Set SANDBOX=shared to permit it, or SANDBOX=off for production",
  );
}

function checkSystemSender(settings: ServiceSettings) {
  const { SYSTEM_SENDER: sender, SYSTEM_SENDER_CREDENTIALS: credentials } = settings;
  if (!sender) return;
  if (!parseSystemSender(sender)) throw new CliError(`SYSTEM_SENDER ${systemSenderRule}`);
  // The sandbox has credentials for its own sender.
  if (!credentials && !usesSandbox(settings))
    throw new CliError(
      "SYSTEM_SENDER_CREDENTIALS is missing: it must have the credentials of the provider that " +
        "SYSTEM_SENDER names, as JSON",
    );
}

function checkSmtpNetworks({ SMTP_PRIVATE_NETWORKS: ranges }: ServiceSettings) {
  const wrong = ranges?.split(",").find((range) => range.trim() && !isIpRange(range.trim()));
  if (wrong !== undefined)
    throw new CliError(
      "SMTP_PRIVATE_NETWORKS must be IP addresses or ranges such as 10.0.0.0/8, separated by " +
        `commas, not ${wrong.trim()}`,
    );
}

function checkChoice(name: string, value: string | undefined, words: readonly string[]) {
  if (!value || words.includes(value)) return;
  throw new CliError(
    `${name} must be ${words.slice(0, -1).join(", ")} or ${words.at(-1)}, not ${value}`,
  );
}

function checkPublicUrl(settings: ServiceSettings) {
  const { PUBLIC_URL: given } = settings;
  const { url, fault } = given ? readPublicUrl(given) : {};
  if (fault) throw new CliError(`PUBLIC_URL ${fault}, not ${given}`);
  // A service with webhooks to loopback is a test that nothing reaches from outside.
  if (usesSandbox(settings) || settings.ALLOW_LOOPBACK_WEBHOOKS === "on") return;
  if (url && !isThisMachine(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"))) return;
  throw new CliError(
    "PUBLIC_URL must be the address at which recipients and providers reach this service, " +
      `such as https://mail.example.com${given ? `, not ${given}` : ""}. ` +
      "With SANDBOX=off real mail goes out, with links to that address.",
  );
}

const isThisMachine = (host: string): boolean =>
  host === "0.0.0.0" || host === "::" || /(^|\.)localhost$/.test(host) || isLoopbackIp(host);

/**
 * The reverse proxies whose X-Forwarded-For names the client: TRUSTED_PROXIES, by default those on
 * this machine.
 */
export function trustedProxies(settings: ServiceSettings): BlockList {
  const proxies = new BlockList();
  const text = settings.TRUSTED_PROXIES ?? (usesSandbox(settings) ? "" : "127.0.0.1, ::1");
  for (const range of text.split(",").map((part) => part.trim()))
    if (range) addRange(proxies, range);
  return proxies;
}

function addRange(proxies: BlockList, range: string) {
  const [address = "", bits] = range.split("/");
  const family = familyOf(address);
  const most = family === "ipv4" ? 32 : 128;
  const length = Number(bits ?? most);
  if (!isIP(address) || !Number.isInteger(length) || length < 0 || length > most)
    throw new CliError(
      "TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, separated by " +
        `commas, not ${range}`,
    );
  proxies.addSubnet(address, length, family);
}

const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

/**
 * The last address of X-Forwarded-For that is not a trusted proxy, or the address of the
 * connection.
 */
export function clientAddress(connected: string, forwardedFor: string, proxies: BlockList): string {
  const hops = [...forwardedFor.split(",").map((hop) => hop.trim()), connected].filter((hop) =>
    isIP(hop),
  );
  const isProxy = (hop: string) => proxies.check(hop, familyOf(hop));
  return hops.findLast((hop) => !isProxy(hop)) ?? connected;
}
