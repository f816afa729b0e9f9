import { notifications } from "@mantine/notifications";
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Job } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { isRunning, isShown, jobsQuery, keyOf, putAway, usePutAway } from "../../data/jobs.ts";
import { useMe } from "../../data/session.ts";
import { ofService, t } from "../../language/translate.ts";
import { statusName } from "../../parts/status-names.ts";

const dayMs = 86_400_000;

/** What was read from these groups of the API is read again when a job of the type ends. */
const changedGroups: Record<Job["type"], string[]> = {
  import: ["imports", "contacts", "lists", "tags", "contactFields"],
  export: ["exports"],
  contact_action: ["contactActions", "contacts", "lists", "tags", "suppressions"],
  campaign_audit: ["campaigns"],
  site_erasure: [],
  field_conversion: ["contacts", "contactFields"],
};

/** The service names jobs and counts their rows in English. */
const translateJobs = ({ jobs }: { jobs: Job[] }): { jobs: Job[] } => ({
  jobs: jobs.map((job) => ({ ...job, name: ofService(job.name), state: ofService(job.state) })),
});

interface ShownJobs {
  jobs: Job[];
  /** What has ended since the panel was opened, for a live region. */
  announcement: string;
}

/**
 * The jobs to show: those that run, then those of the user that ended within a day and are not put
 * away. Announces the end of those that no screen shows.
 */
export function useJobs({ isPanelOpen }: { isPanelOpen: boolean }): ShownJobs {
  const { user } = useMe();
  const queryClient = useQueryClient();
  const jobs = useQuery({ ...jobsQuery(), select: translateJobs }).data?.jobs;
  const hidden = usePutAway();
  const [announcement, setAnnouncement] = useState("");
  const latestEnd = useRef<string>(undefined);
  const isOwn = ({ startedBy }: Job) => startedBy?.type === "user" && startedBy.id === user.id;
  useEffect(() => {
    if (!jobs) return;
    const ends = jobs.map(endOf);
    const before = latestEnd.current;
    latestEnd.current = [before ?? "", ...ends].toSorted().at(-1);
    // What had ended before the page was opened is no news.
    if (before === undefined) return;
    const news = jobs.filter((job) => endOf(job) > before);
    for (const job of news) refreshAfter(queryClient, job);
    const own = news.filter(isOwn);
    const seen = own.filter(isShown);
    if (seen.length) putAway(seen);
    const announced = own.filter((job) => !seen.includes(job));
    if (!isPanelOpen) for (const job of announced) notify(job);
    else if (announced.length) setAnnouncement(announced.map(describe).join("; "));
  }, [jobs]);
  const shown = (jobs ?? []).filter(
    (job) => isRunning(job) || (isOwn(job) && isRecent(job) && !hidden.has(keyOf(job))),
  );
  return { jobs: shown, announcement };
}

/** Empty while it runs. Times of the service sort as text. */
const endOf = ({ finishedAt }: Job): string => finishedAt ?? "";

const isRecent = ({ finishedAt }: Job): boolean =>
  finishedAt !== null && Date.parse(finishedAt) > Date.now() - dayMs;

function refreshAfter(queryClient: QueryClient, { type }: Job): void {
  for (const group of changedGroups[type])
    void queryClient.invalidateQueries({ queryKey: [group] });
}

const describe = ({ name, state, status }: Job): string =>
  `${statusName(status)}: ${name}. ${state}`;

/** A screen reader reads it when it has finished what it reads. */
function notify({ name, state, status }: Job): void {
  notifications.show({
    role: "status",
    title: name,
    message: `${statusName(status)}: ${state}`,
    color: status === "completed" ? "teal" : "red",
    autoClose: 8_000,
    closeButtonProps: { "aria-label": t("Close") },
  });
}
