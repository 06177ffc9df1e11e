/** What is used of Slack's library: a file of its own in a bundle, which is loaded with the first message that is sent. */
export { LogLevel, WebClient } from '@slack/web-api';
