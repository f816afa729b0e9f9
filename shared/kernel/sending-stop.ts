// Whether this process sends nothing, because its data is a restored backup. Only a service on one
// machine starts like this.

export interface SendingStop {
  /** When the backup was made (ISO 8601). */
  backedUpAt: string;
  /** When the service first started with the backup (ISO 8601). */
  since: string;
}

let current: SendingStop | undefined;

export const setSendingStop = (stop: SendingStop | undefined): void => {
  current = stop;
};

export const getSendingStop = (): SendingStop | undefined => current;

/** What is wrong and what to do, as sentences. */
export const describeStop = ({ backedUpAt }: SendingStop): string =>
  `Nothing is sent: this service runs on a restored backup of ${backedUpAt}, and email may have ` +
  "gone out since. The operator of the server resumes sending with npm run after-restore.";
