// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Loops over an array in storage.
contract Scores {
    uint[] scores;

    function add(uint score) public {
        require(score > 0 && score <= 100);
        scores.push(score);
        assert(scores[scores.length - 1] <= 100); // expect: safe
    }

    function clear() public {
        for (uint i = 0; i < scores.length; i++)
            scores[i] = 0;
        if (scores.length > 0)
            assert(scores[0] == 0); // expect: safe
    }

    function count() public view returns (uint found) {
        for (uint i = 0; i < scores.length; i++)
            if (scores[i] > 0)
                found += 1;
        assert(found <= scores.length); // expect: safe
        assert(found < 2); // expect: unsafe
    }
}
