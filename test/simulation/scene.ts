// What the actions of callers and the books share: the stage of one simulation, and what callers
// were told.
import type { PreparedWorld, World } from "./world.ts";

/** One thing that a caller does. The numbers are choices, and mean something else for each kind. */
export interface Action {
  /** Milliseconds after the start. */
  at: number;
  kind: string;
  /** Identifies the action. Stands in the subject of its mail. */
  number: number;
  /** From 0 to 1. */
  choice: number;
  size: number;
}

/** What callers were told, for the books. Times are in milliseconds since 1970. */
export interface Ledger {
  /** `isFree`: the address is suppressed, so the mail is listed and not charged. */
  sends: { id: number; subject: string; to: string; isFree?: boolean }[];
  campaigns: { id: number; subject: string; startedAt: number }[];
  /** Addresses that left, and when they got the answer. */
  departures: { email: string; at: number }[];
  /** Requests that were refused, which is an answer too. */
  refusals: string[];
  enrollments: Enrolled[];
  /**
   * Addresses that were erased: when the caller got the answer, and the sends to the address that
   * had ended or were uncertain before it asked.
   */
  erasures: {
    email: string;
    askedAt: number;
    at: number;
    ended: number[];
    uncertain: number[];
  }[];
  resolutions: Resolution[];
}

/** An uncertain mail that a caller resolved. */
export interface Resolution {
  id: number;
  /** As `keyOf` returns it. */
  key: string;
  outcome: "send_again" | "failed";
  /** The error, or `done`. Empty while there is no answer. */
  answer: string;
}

/** A contact that a caller enrolled in the sequence. */
interface Enrolled {
  contactId: number;
  email: string;
  isAnswered?: boolean;
  /** When the caller learned that the contact has left the sequence. */
  cancelledAt?: number;
}

export const createLedger = (): Ledger => ({
  sends: [],
  campaigns: [],
  departures: [],
  refusals: [],
  enrollments: [],
  erasures: [],
  resolutions: [],
});

export interface Scene {
  world: World;
  prepared: PreparedWorld;
  ledger: Ledger;
}

export interface ActionDefinition {
  weight: number;
  describe(action: Action, prepared: PreparedWorld): string;
  run(scene: Scene, action: Action): Promise<void>;
}

/** A part of the service that only some simulations use. */
export interface Area {
  actions: Record<string, ActionDefinition>;
  /** Resumes what callers paused, so that the world can come to rest. */
  resume?(scene: Scene): Promise<void>;
  /** What callers do so many hours after the world has come to rest. */
  late?: { hours: number; run(scene: Scene): Promise<void> };
  /** Violations, one sentence each. While `isAtRest` is false, mail and enrollments may wait. */
  check(scene: Scene, sends: ListedSend[], isAtRest: boolean): Promise<string[]> | string[];
}

/** A row of GET /sends. */
export interface ListedSend {
  id: number;
  toEmail: string;
  subject: string;
  status: string;
  error: string | null;
  provider: string;
  campaignId: number | null;
  sequenceId: number | null;
  createdAt: string;
}

export const configOf = ({ choice }: Action, { configs }: PreparedWorld) =>
  configs[Math.floor(choice * configs.length)]!;
export const contactOf = ({ choice }: Action, { contacts }: PreparedWorld) =>
  contacts[Math.floor(choice * 997) % contacts.length]!;
export const subjectOf = ({ number }: Action) => `Mail of action ${number}`;
export const keyOf = (to: string, subject: string) => `${to.toLowerCase()} "${subject}"`;

/** The address in the sends of an erased contact. */
export const erasedEmail = "erased@erased.invalid";
