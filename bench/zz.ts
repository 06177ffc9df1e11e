import { ClusterHost } from './cluster-host.ts';
const h = new ClusterHost();
await h.open({isJudged:false});
const n = Number(process.argv[2]);
console.log(await h.fill({groups: Math.ceil(n/3), zones:3, sets:n, podsPerSet:10, maxUnavailable:1, podBytes:8000}));
console.log(process.cpuUsage(), process.memoryUsage().rss/1e6);
process.exit();
