// Long work of the organization, on every screen: a button while something runs, and a panel with
// each job. The service knows the jobs, so they are found again after a reload.

import { ActionIcon, Button, UnstyledButton } from "@mantine/core";
import { IconChecks, IconProgress, IconX } from "@tabler/icons-react";
import type { Job } from "pennymail";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { isRunning, keyOf, putAway } from "../../data/jobs.ts";
import { useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { JobResult } from "./job-result.tsx";

interface JobButtonProps {
  jobs: Job[];
  isOpen: boolean;
  onToggle(): void;
}

export function JobButton({ jobs, isOpen, onToggle }: JobButtonProps) {
  if (jobs.length === 0) return null;
  const running = jobs.filter(isRunning);
  const Icon = running.length ? IconProgress : IconChecks;
  return (
    <UnstyledButton className="job-button" aria-expanded={isOpen} onClick={onToggle}>
      <Icon size={17} stroke={1.6} aria-hidden />
      <span className="job-label">{labelOf(jobs)}</span>
      {running.length > 0 && <JobProgress jobs={running} />}
    </UnstyledButton>
  );
}

function labelOf(jobs: Job[]): string {
  const running = jobs.filter(isRunning);
  if (running.length > 1) return t("{count} jobs at work", { count: running.length });
  if (running[0]) return running[0].name;
  return jobs.length === 1
    ? t("1 job finished")
    : t("{count} jobs finished", { count: jobs.length });
}

/** The average of several jobs. Without a value, it only shows that something is done. */
function JobProgress({ jobs }: { jobs: Job[] }) {
  const known = jobs.flatMap(({ progress }) => (progress === null ? [] : [progress]));
  const sum = known.reduce((total, progress) => total + progress, 0);
  return (
    <progress
      className="wide-progress"
      max={100}
      {...(known.length > 0 && { value: Math.round(sum / known.length) })}
      aria-label={t("Progress")}
    />
  );
}

interface JobPanelProps {
  jobs: Job[];
  onClose(): void;
}

/** The rest of the page stays usable. Escape closes the panel. */
export function JobPanel({ jobs, onClose }: JobPanelProps) {
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    closeButton.current?.focus();
    return () => {
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, []);
  const isEmpty = jobs.length === 0;
  useEffect(() => {
    if (isEmpty) onClose();
  }, [isEmpty]);
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  };
  const ended = jobs.filter((job) => !isRunning(job));
  return (
    <aside className="job-panel" aria-label={t("Background work")} onKeyDown={closeByKey}>
      <header>
        <h2>{t("Background work")}</h2>
        {ended.length > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={() => putAway(ended)}>
            {t("Put away finished")}
          </Button>
        )}
        <ActionIcon
          ref={closeButton}
          variant="subtle"
          color="gray"
          aria-label={t("Close")}
          onClick={onClose}
        >
          <IconX size={18} />
        </ActionIcon>
      </header>
      {ended.length < jobs.length && (
        <p className="quiet">{t("It goes on when you leave the page or close the window.")}</p>
      )}
      <ul>
        {jobs.map((job) => (
          <JobRow key={keyOf(job)} job={job} />
        ))}
      </ul>
    </aside>
  );
}

function JobRow({ job }: { job: Job }) {
  const { name, status, state, siteId } = job;
  const { sites } = useSite();
  const site = sites.length > 1 && sites.find(({ id }) => id === siteId);
  return (
    <li>
      <strong>{name}</strong>
      {isRunning(job) ? <JobProgress jobs={[job]} /> : <StatusMark status={status} />}
      <span className="quiet">
        {state}
        {site && ` · ${site.name}`}
      </span>
      <JobResult job={job} />
    </li>
  );
}
