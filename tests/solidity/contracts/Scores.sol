// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Loops over arrays in storage.
contract Scores {
    uint[] scores;
    uint total;

    function add(uint score) public {
        require(score <= 10);
        scores.push(score);
        total += 1;
        assert(total >= 1); // expect: safe
    }

    function count(uint above) public view returns (uint found) {
        for (uint i = 0; i < scores.length; ++i) {
            if (scores[i] > above) {
                found += 1;
            }
        }
        assert(found <= scores.length); // expect: safe
    }

    function clear() public {
        for (uint i = 0; i < scores.length; ++i) {
            scores[i] = 0;
        }
        assert(scores.length == 0 || scores[0] == 0); // expect: safe
    }

    function small() public view {
        assert(scores.length < 2); // expect: unsafe
    }
}
