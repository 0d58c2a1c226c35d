// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Structs in an array, voters in a nested mapping, and a loop that looks for the winner.
contract Ballot {
    struct Proposal {
        uint votes;
        bool accepted;
    }

    Proposal[] proposals;
    mapping(uint => mapping(address => bool)) voted;
    uint total;

    function propose() public {
        proposals.push();
        assert(proposals[proposals.length - 1].votes == 0); // expect: safe
    }

    function vote(uint index) public {
        require(index < proposals.length);
        require(!voted[index][msg.sender]);
        voted[index][msg.sender] = true;
        proposals[index].votes += 1;
        total += 1;
        assert(voted[index][msg.sender]); // expect: safe
        assert(proposals[index].votes > 0); // expect: safe
    }

    function winner() public view returns (uint best) {
        require(proposals.length > 0);
        for (uint i = 1; i < proposals.length; i++)
            if (proposals[i].votes > proposals[best].votes)
                best = i;
        assert(best < proposals.length); // expect: safe
        assert(best == 0); // expect: unsafe
    }
}
