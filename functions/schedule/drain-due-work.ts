import * as due from "../../shared/domain/sending/due.ts";
import { every } from "../../shared/every.ts";

export const tick = every(1, "drain-due-work", due.drainAll);
export const { handler } = tick;
