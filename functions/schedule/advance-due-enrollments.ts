import * as due from "../../shared/domain/automation/due-enrollments.ts";
import { everyMinutes } from "../../shared/schedules.ts";

export const schedule = everyMinutes(1, "advance-due-enrollments", due.enqueueDueShards);
export const { handler } = schedule;
