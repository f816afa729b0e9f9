// The public archive of a site: its switch, and the addresses of its pages.
import * as z from "zod";
import { config } from "../../config.ts";

export const archiveUrlOf = (siteId: number): string => `${config.publicUrl}/archive/${siteId}`;

export const archivePageUrlOf = ({ siteId, id }: { siteId: number; id: number }): string =>
  `${archiveUrlOf(siteId)}/${id}`;

export const archiveSwitch = z
  .boolean()
  .describe(
    "Whether the site has a public archive at `archiveUrl`. It shows the campaigns with " +
      "`archive`, newest first, and has an RSS feed.",
  );

/** Fields of a site in a response. */
export const archiveFields = {
  archive: archiveSwitch,
  archiveUrl: z.string().describe("Address of the public archive, whether it is on or not."),
};

export const archiveToApi = ({ id, archive = false }: { id: number; archive?: boolean }) => ({
  archive,
  archiveUrl: archiveUrlOf(id),
});
