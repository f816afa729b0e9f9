// The SQS client.
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { clientOptions } from "../aws-requests.ts";

let client: SQSClient | undefined;
export const sqs = (): SQSClient => {
  client ??= new SQSClient(clientOptions());
  return client;
};

/** A name of its own, because its permission is for the dead-letter queues only. */
export class GetDeadLetterQueueAttributesCommand extends GetQueueAttributesCommand {}
