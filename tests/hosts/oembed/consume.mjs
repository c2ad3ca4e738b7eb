import { unfurl } from 'unfurl.js';

console.log(JSON.stringify(await unfurl(process.argv[2], { oembed: true })));
