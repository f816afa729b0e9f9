import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { Job } from "pennymail";
import { api } from "../../data/client.ts";
import { isRunning } from "../../data/jobs.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ReadableError } from "../../parts/readable-error.ts";

/** Leads to the progress of a job that runs, and to the result of one that has ended. */
export function JobResult({ job }: { job: Job }) {
  if (job.type === "export")
    return job.status === "completed" ? <Download exportId={job.id} name={job.name} /> : null;
  const link = linkOf(job);
  if (!link) return null;
  return (
    <Link {...link} aria-label={`${labelOf(job)}: ${job.name}`}>
      {labelOf(job)}
    </Link>
  );
}

const labelOf = (job: Job): string => {
  if (isRunning(job)) return t("Show progress");
  return job.failed ? t("Show errors") : t("Show result");
};

function linkOf({ type, id }: Job): LinkProps | undefined {
  if (type === "import") return { to: "/contacts/import", search: { id } };
  if (type === "contact_action") return { to: "/contacts", search: { action: id } };
  if (type === "campaign_audit") return { to: "/campaigns/$id", params: { id } };
  return undefined;
}

/** The address of the file is valid for an hour, so it is read when it is needed. */
function Download({ exportId, name }: { exportId: number; name: string }) {
  const downloading = useMutation({
    mutationFn: async () => {
      const { downloadUrl } = await api.exports.get(exportId);
      if (!downloadUrl)
        throw new ReadableError(t("The file was deleted after 7 days. Export again."));
      // A browser shows JSON instead of saving it, unless the link says so.
      Object.assign(document.createElement("a"), { href: downloadUrl, download: "" }).click();
    },
  });
  return (
    <>
      <Button
        size="compact-sm"
        aria-label={t("Download file: {name}", { name })}
        loading={downloading.isPending}
        onClick={() => downloading.mutate()}
      >
        {t("Download file")}
      </Button>
      <ErrorNote error={downloading.error} />
    </>
  );
}
