// How many messages a queue has, and how many its dead-letter queue.
import { GetQueueAttributesCommand, type QueueAttributeName } from "@aws-sdk/client-sqs";
import { config } from "../../config.ts";
import type { QueueDefinition } from "../../queues.ts";
import { GetDeadLetterQueueAttributesCommand, sqs } from "./client.ts";

/** As SQS counts: approximately. */
export interface MessageCounts {
  waiting: number;
  delayed: number;
  inProgress: number;
  deadLetters: number;
}

const countNames = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
] as const satisfies QueueAttributeName[];

/** Two requests. Throws if SQS does not respond. */
export async function countMessages({ name }: QueueDefinition): Promise<MessageCounts> {
  const QueueUrl = config.queueUrl(name);
  const { Attributes = {} } = await sqs().send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...countNames, "RedrivePolicy"] }),
  );
  const [waiting, delayed, inProgress] = countNames.map((each) => Number(Attributes[each] ?? 0));
  return {
    waiting: waiting!,
    delayed: delayed!,
    inProgress: inProgress!,
    deadLetters: await countDeadLetters(QueueUrl, Attributes.RedrivePolicy),
  };
}

async function countDeadLetters(queueUrl: string, redrivePolicy: string | undefined) {
  const { deadLetterTargetArn } = JSON.parse(redrivePolicy ?? "{}") as {
    deadLetterTargetArn?: string;
  };
  const name = deadLetterTargetArn?.split(":").at(-1);
  if (!name) return 0;
  const { Attributes = {} } = await sqs().send(
    new GetDeadLetterQueueAttributesCommand({
      // Both queues are in the same account and region.
      QueueUrl: queueUrl.replace(/[^/]+$/, name),
      AttributeNames: [countNames[0]],
    }),
  );
  return Number(Attributes[countNames[0]] ?? 0);
}
