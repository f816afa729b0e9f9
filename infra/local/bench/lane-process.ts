// Runs the lanes in a process of its own, as a Lambda function does. It has the
// environment of the measured service and receives messages from the same queue.
import { SQSClient } from "@aws-sdk/client-sqs";
import { worker } from "../../../functions/queue/lane.ts";
import { isMainModule } from "../command-line.ts";
import { localRegion } from "../engines/sqs-and-s3.ts";
import { startPolling } from "../queue-poller.ts";

if (isMainModule(import.meta)) main();

function main() {
  const client = new SQSClient({
    endpoint: process.env.AWS_ENDPOINT_URL_SQS!,
    region: localRegion,
    useQueueUrlAsEndpoint: false,
  });
  startPolling(worker, { client, url: process.env.QUEUE_URL_LANE!, reportError: console.error });
  process.on("disconnect", () => process.exit());
}
