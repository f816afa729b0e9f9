import { Duration } from "aws-cdk-lib";
import type { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { type QueuePair, type Store, visibility } from "./store.ts";

interface Watched {
  store: Store;
  http: HttpApi;
  /** Functions nobody waits for: workers and ticks. Those behind the gateway show in its 5xx. */
  background: Lambda[];
}

/** A few alarms, as each costs 10 cents a month: for what is lost, what is late, what fails, and for an account that is too small. */
export class Alarms extends Construct {
  private readonly topic: Topic | undefined;

  constructor(scope: Construct, { store, http, background }: Watched, email: string | undefined) {
    super(scope, "Alarms");
    this.topic = email ? topicFor(this, email) : undefined;
    for (const pair of store.queues.values()) this.watchQueue(pair);
    for (const fn of background) this.watch(`${fn.node.id}-errors`, "It fails; its logs tell why.", fn.metricErrors(five), 1);
    this.watch(
      "server-errors",
      "Requests are answered 5xx; look for level ERROR in the logs.",
      http.metricServerError({ ...five, statistic: "Sum" }),
      5,
    );
    this.watch(
      "throttles",
      "This account runs no more functions at once; ask AWS for a higher quota of concurrent executions.",
      throttles,
      10,
    );
  }

  private watchQueue({ settings, live, dead }: QueuePair) {
    const { name } = settings;
    const visible = dead.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" });
    this.watch(`${name}-dead-letters`, `Messages of ${name} failed for good; mend the cause, then redrive them.`, visible, 1);
    const age = live.metricApproximateAgeOfOldestMessage({ ...five, statistic: "Maximum" });
    // A worker that dies holds its messages for the whole visibility time; that alone is no reason to wake anyone.
    this.watch(`${name}-age`, `Messages of ${name} wait too long.`, age, visibility(settings).toSeconds() + 600);
  }

  private watch(id: string, alarmDescription: string, metric: Metric, threshold: number) {
    const alarm = new Alarm(this, id, {
      alarmDescription,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
    if (this.topic) alarm.addOkAction(new SnsAction(this.topic));
  }
}

function topicFor(scope: Construct, email: string): Topic {
  const topic = new Topic(scope, "Topic", { enforceSSL: true });
  topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
  topic.addSubscription(new EmailSubscription(email));
  return topic;
}

const five = { period: Duration.minutes(5) };
// Of the whole account: its functions share one quota.
const throttles = new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "Sum", ...five });
