import cards from 'open-graph-scraper';
import { unfurl } from 'unfurl.js';

const [, , url] = process.argv;
const [found, { result }] = await Promise.all([unfurl(url, { oembed: true }), cards({ url })]);
console.log(JSON.stringify({ ...found, card: result }));
