import * as z from "zod";
import { planKeys } from "../../shared/plans.ts";

const text = z.string().min(1);

/** What `-c name=value` may say, at `npm run synth` and `npm run deploy`. */
const Context = z.object({
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,19}$/, "must be up to 20 small letters and digits")
    .default("dev"),
  publicUrl: z.url({ protocol: /^https$/ }).optional(),
  domainName: z.hostname().optional(),
  certificateArn: z.string().startsWith("arn:").optional(),
  alarmEmail: z.email().optional(),
  signup: z.enum(["open", "first", "off"]).default("first"),
  defaultPlan: z.enum(planKeys).default("free"),
  allowedOrigins: text.optional(),
  systemSender: text.optional(),
  systemSenderSecret: text.optional(),
  pexelsApiKey: text.optional(),
  /** Name of the secret with Stripe's keys. */
  stripeSecret: text.optional(),
  brandingUrl: z.url({ protocol: /^https$/ }).optional(),
  /** Functions that the account may run at once; `npm run deploy` finds out. */
  accountConcurrency: z.coerce.number().int().min(10).default(1000),
  warmThroughput: z.stringbool().default(false),
});

export type Settings = z.output<typeof Context> & { production: boolean };

/** Throws an Error that names every setting that is wrong. */
export function settingsFrom(context: (name: string) => unknown): Settings {
  const given = Object.fromEntries(Object.keys(Context.shape).map((name) => [name, context(name)]));
  const { data, error } = Context.safeParse(given);
  if (error) throw new Error(error.issues.map(({ path, message }) => `The setting ${path.join(".")}: ${message}`).join("\n"));
  if (data.domainName && !data.certificateArn)
    throw new Error("The setting certificateArn is missing: domainName needs a certificate of its region");
  return { ...data, production: data.stage === "prod" };
}
