// The monthly cost of an installation, calculated from its synthesized templates and from units
// that `npm run bench` measured. Uses the list prices of us-east-1 in November 2026, without free
// tiers.
// Sources: the pricing pages of Lambda, API Gateway, SQS, DynamoDB, CloudWatch and KMS.

/** US dollars, for one unit unless the name says more. */
const price = {
  sqsRequest: 0.4e-6,
  lambdaCall: 0.2e-6,
  lambdaGigabyteSecond: 0.0000133334,
  httpRequest: 1e-6,
  readUnit: 0.125e-6,
  writeUnit: 0.625e-6,
  storedGigabyteMonth: 0.25,
  recoveryGigabyteMonth: 0.2,
  logGigabyte: 0.5,
  alarmMonth: 0.1,
  metricMonth: 0.3,
  keyMonth: 1,
};

const minutesPerMonth = 30.4 * 24 * 60;

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
}

/** One line of the bill. */
export interface CostItem {
  what: string;
  /** Explains the amount. */
  because: string;
  dollars: number;
}

/** Lambda polls each queue with 5 long polls of 20 seconds, even if it is empty. */
const pollsPerMinute = 15;

/**
 * The monthly cost without any request or mail. `shards` is the number of shards that the schedules
 * query.
 */
export function idleCost(resources: Resource[], shards: number): CostItem[] {
  const count = (type: string) => resources.filter(({ Type }) => Type === type).length;
  const sources = count("AWS::Lambda::EventSourceMapping");
  const polls = sources * pollsPerMinute * minutesPerMonth;
  const rules = resources.filter(({ Type }) => Type === "AWS::Events::Rule");
  const scheduleRuns = rules.length * minutesPerMonth;
  const runGigabyteSeconds = 0.15 * 0.5; // half a gigabyte for 150 ms
  const reads = shards * 0.5 * minutesPerMonth;
  const alarms = count("AWS::CloudWatch::Alarm");
  const metrics = count("AWS::Logs::MetricFilter") ? 1 : 0;
  const scheduleLogGigabytes = (scheduleRuns * 600) / 1e9;
  return [
    {
      what: "SQS",
      because: `${sources} queues are polled ${pollsPerMinute} times a minute`,
      dollars: polls * price.sqsRequest,
    },
    { what: "KMS", because: "1 key", dollars: count("AWS::KMS::Key") * price.keyMonth },
    {
      what: "DynamoDB",
      because: `the schedules query ${shards} shards a minute`,
      dollars: reads * price.readUnit,
    },
    {
      what: "Lambda",
      because: `${rules.length} schedules run every minute`,
      dollars: scheduleRuns * (price.lambdaCall + runGigabyteSeconds * price.lambdaGigabyteSecond),
    },
    {
      what: "CloudWatch logs",
      because: "2 lines for each run of a schedule",
      dollars: scheduleLogGigabytes * price.logGigabyte,
    },
    {
      what: "CloudWatch alarms",
      because: alarms ? `${alarms} alarms, ${metrics} metric` : "none without alarmEmail",
      dollars: alarms * price.alarmMonth + metrics * price.metricMonth,
    },
  ];
}

/**
 * What one campaign mail consumes from fan-out to its events: one delivery, and an open for 30 of
 * 100 mails. Measured by `npm run bench -- campaign` and `npm run bench -- inbound`.
 */
const perMail = {
  writeUnits: 0.27 + 1.18 + 0.3 * 2.18,
  readUnits: 0.19 + 1 + 0.3 * 2,
  // 0.53 ms of CPU per mail plus the wait for the provider, at 1.73 GB; 0.3 ms per event.
  lambdaGigabyteSeconds: 0.0028 * 1.73 + 1.3 * 0.0005 * 1.73,
  // Half of the providers post single events, half post hundreds at once.
  httpRequests: 1.3 * 0.5,
  sqsRequests: 1.3 * 0.6,
  // One line per request, and shares of the lines per chunk and batch.
  logBytes: 1.3 * 0.5 * 900 + 60,
  storedBytes: 1100,
};

/**
 * The cost of this many mails a month in addition to the idle cost. Mails are stored for 60 days.
 */
export function mailCost(mails: number): CostItem[] {
  const stored = (2 * mails * perMail.storedBytes) / 1e9;
  const requests = mails * perMail.httpRequests;
  return [
    {
      what: "DynamoDB",
      because:
        `${perMail.writeUnits.toFixed(1)} write and ${perMail.readUnits.toFixed(1)} read units ` +
        "a mail",
      dollars: mails * (perMail.writeUnits * price.writeUnit + perMail.readUnits * price.readUnit),
    },
    {
      what: "DynamoDB storage",
      because: `${stored.toFixed(2)} GB with recovery to any second`,
      dollars: stored * (price.storedGigabyteMonth + price.recoveryGigabyteMonth),
    },
    {
      what: "Lambda",
      because: "hand-over and events",
      dollars:
        mails * perMail.lambdaGigabyteSeconds * price.lambdaGigabyteSecond +
        requests * price.lambdaCall,
    },
    {
      what: "API Gateway",
      because: "the providers' webhooks",
      dollars: requests * price.httpRequest,
    },
    { what: "SQS", because: "events", dollars: mails * perMail.sqsRequests * price.sqsRequest },
    {
      what: "CloudWatch logs",
      because: `${((mails * perMail.logBytes) / 1e9).toFixed(3)} GB`,
      dollars: ((mails * perMail.logBytes) / 1e9) * price.logGigabyte,
    },
  ];
}

export const sum = (items: CostItem[]): number =>
  items.reduce((all, { dollars }) => all + dollars, 0);
