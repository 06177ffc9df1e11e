/** What is used of the SDK of AWS: a file of its own in a bundle, which is loaded with the first alarm that is asked for. */
export { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
export { boundMetadataRequests } from './bound-metadata-requests.ts';
