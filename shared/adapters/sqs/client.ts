// The SQS client, with the operations that we use. Names and types are those of the SDK.
import type * as sdk from "@aws-sdk/client-sqs";
import { AwsJsonClient, AwsJsonCommand } from "../aws/json-client.ts";

export class SqsClient extends AwsJsonClient {
  protected readonly service = { name: "sqs", targetPrefix: "AmazonSQS" } as const;
}
const client = new SqsClient();
export const sqs = (): SqsClient => client;

export class SendMessageBatchCommand extends AwsJsonCommand<
  sdk.SendMessageBatchCommandInput,
  sdk.SendMessageBatchCommandOutput
> {
  readonly operation = "SendMessageBatch";
}
export class ChangeMessageVisibilityBatchCommand extends AwsJsonCommand<
  sdk.ChangeMessageVisibilityBatchCommandInput,
  sdk.ChangeMessageVisibilityBatchCommandOutput
> {
  readonly operation = "ChangeMessageVisibilityBatch";
}
export class GetQueueAttributesCommand extends AwsJsonCommand<
  sdk.GetQueueAttributesCommandInput,
  sdk.GetQueueAttributesCommandOutput
> {
  readonly operation = "GetQueueAttributes";
}
/** A name of its own, because its permission is for the dead-letter queues only. */
export class GetDeadLetterQueueAttributesCommand extends AwsJsonCommand<
  sdk.GetQueueAttributesCommandInput,
  sdk.GetQueueAttributesCommandOutput
> {
  readonly operation = "GetQueueAttributes";
}
