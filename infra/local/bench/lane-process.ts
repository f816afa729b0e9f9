// Another process that hands over the chunks of lanes, as a second Lambda function does. It has the
// environment of the measured service and receives messages from the same queue.
import { SQSClient } from "@aws-sdk/client-sqs";
import { worker } from "../../../functions/queue/lane.ts";
import { localCredentials, localRegion } from "../engines/sqs-and-s3.ts";
import { startPolling } from "../queue-poller.ts";

if (import.meta.main) main();

function main() {
  const client = new SQSClient({
    endpoint: process.env.AWS_ENDPOINT_URL_SQS!,
    region: localRegion,
    credentials: localCredentials,
    useQueueUrlAsEndpoint: false,
  });
  startPolling(worker, { client, url: process.env.QUEUE_URL_LANE!, reportError: console.error });
  process.on("disconnect", () => process.exit());
}
