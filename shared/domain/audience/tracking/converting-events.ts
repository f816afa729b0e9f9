// Custom events that are conversions of campaigns. Audience imports no higher area:
// `shared/domain/conversion-reactions.ts` installs what counts them, and every entry point that
// records events imports that file. Others change contacts without events, so their bundles stay
// small.
import type { Write } from "../../../adapters/dynamodb/table.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";

export interface ConvertingEvent {
  id: number;
  name: string;
  /** When it happened (ISO 8601). */
  at: string;
  /** JSON. */
  properties?: string | undefined;
}

interface ConversionReactions {
  /** Names of the events that count as conversions of campaigns. */
  listConvertingNames(orgId: number, siteId: number): Promise<Set<string>>;
  /** For the transaction that records the event: at most `maxWrites`. */
  conversionWrites(
    contact: ContactItem,
    event: ConvertingEvent,
    maxWrites: number,
  ): Promise<Write[]>;
}

/** What one event needs at most for all conversions that it can be. */
export const maxConversionWrites = 30;

let installed: ConversionReactions | undefined;

export function installConversionReactions(reactions: ConversionReactions): void {
  installed = reactions;
}

export function conversionReactions(): ConversionReactions {
  if (!installed)
    throw new Error("This entry point must import shared/domain/conversion-reactions.ts");
  return installed;
}
