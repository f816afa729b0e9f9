import type { QueueWorker } from "../shared/kernel/queue-worker.ts";
import { worker as advance } from "./queue/advance.ts";
import { worker as campaigns } from "./queue/campaigns.ts";
import { worker as drain } from "./queue/drain.ts";
import { worker as fanOut } from "./queue/fan-out.ts";
import { worker as forward } from "./queue/forward.ts";
import { worker as inbound } from "./queue/inbound.ts";
import { worker as jobs } from "./queue/jobs.ts";
import { worker as lane } from "./queue/lane.ts";
import { worker as providerEvents } from "./queue/provider-events.ts";
import { worker as report } from "./queue/report.ts";
import { worker as send } from "./queue/send.ts";
import { worker as stepTasks } from "./queue/step-tasks.ts";
import { worker as submission } from "./queue/submission.ts";
import { worker as systemMail } from "./queue/system-mail.ts";

export const workers: QueueWorker[] = [
  send,
  lane,
  campaigns,
  fanOut,
  drain,
  providerEvents,
  inbound,
  forward,
  submission,
  jobs,
  advance,
  report,
  stepTasks,
  systemMail,
];
