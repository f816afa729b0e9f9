// What the parts of a campaign or holiday say, ready to be staged.
import { htmlOf } from "../campaigns/plan.ts";
import type { Mailshot } from "../sending/staging.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as sites from "../sites.ts";
import { type Key, sourceOf } from "./broadcast.ts";
import type { Part, Plan } from "./plan.ts";

/** `part` undefined: what waits for the winner, worded like the first until then. Throws when site or sending config are gone. */
export async function shooter(key: Key, plan: Plan): Promise<(part: Part | undefined) => Promise<Mailshot>> {
  const { orgId } = key;
  const [site, config] = await Promise.all([sites.find({ orgId }, plan.siteId), sendingConfigs.find({ orgId }, plan.configId)]);
  const htmls = new Map<number, Promise<string>>();
  const html = (id: number, version: number) => {
    const known = htmls.get(id) ?? htmlOf(orgId, id, version);
    htmls.set(id, known);
    return known;
  };
  return async (part) => {
    const { template, subject, htmlVersion, id } = part ?? plan.parts[0]!;
    return {
      orgId,
      site,
      config,
      source: { ...sourceOf(key), ...(part?.id !== undefined && { part: part.id }) },
      template,
      subject,
      ...(htmlVersion && { html: await html(id!, htmlVersion) }),
      at: new Date(plan.at),
    };
  };
}
